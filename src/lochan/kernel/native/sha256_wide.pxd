# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t, uint32_t

# Sixteen states side by side: word j of lane i is state[16 * j + i].
cdef bint can_hash_wide() noexcept nogil
# Take one 64-byte block of each lane into its state. Requires: can_hash_wide().
cdef void hash_wide(uint32_t* state, const uint8_t** blocks) noexcept nogil
