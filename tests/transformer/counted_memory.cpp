#include "transformer/counted_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> allocations{0};

void* counted(void* memory) {
  ++allocations;
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(std::malloc(bytes)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

// Of oneTBB: core/matrix.cpp calls these two.
extern "C" void* scalable_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  return counted(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
}
extern "C" void scalable_aligned_free(void* memory) { std::free(memory); }

namespace dewpoint::test {

long allocations_of(const std::function<void()>& work) {
  const long before = allocations;
  work();
  return allocations - before;
}

}  // namespace dewpoint::test
