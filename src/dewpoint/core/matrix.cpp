#include "dewpoint/core/matrix.hpp"

#include <tbb/scalable_allocator.h>

namespace dewpoint::detail {

void* allocate_aligned(std::size_t bytes) {
  void* memory = scalable_aligned_malloc(std::max(bytes, kAlignment), kAlignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void free_aligned(void* memory) { scalable_aligned_free(memory); }

}  // namespace dewpoint::detail
