// SPDX-License-Identifier: Apache-2.0
// Nothing: the stand-in for a library of which only the name is needed.
