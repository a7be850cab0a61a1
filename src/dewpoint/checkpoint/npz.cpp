#include "dewpoint/checkpoint/npz.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "dewpoint/checkpoint/npy_array.hpp"
#include "dewpoint/checkpoint/npy_header.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/checkpoint/utf8.hpp"
#include "dewpoint/checkpoint/zip_handles.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

constexpr zip_uint64_t kMostExpansion = 1032;
constexpr zip_uint64_t kMemberSlack = 1024;
constexpr zip_uint64_t kMostArchiveExpansion = 100;
constexpr const char* kAllowedArchive = "a ZIP archive of .npy files";
constexpr std::string_view kExtension = ".npy";

// --- libzip --------------------------------------------------------------------------------------

using zip::Archive;
using zip::File;
using zip::Source;
using zip::ZipError;

[[noreturn]] void refuse_archive(zip_error_t* error) {
  throw Refusal{"archive", fmt::format("'{}'", excerpt(zip_error_strerror(error))),
                kAllowedArchive};
}

struct CloseStream {
  void operator()(std::FILE* stream) const { std::fclose(stream); }
};

// The stream has a position of its own kind: nobody else moves that of the descriptor.
zip_source_t* source_of(const ByteSource& bytes, zip_error_t* error) {
  if (!bytes.file()) {
    return zip_source_buffer_create(bytes.memory().data(), bytes.memory().size(), 0, error);
  }
  std::unique_ptr<std::FILE, CloseStream> stream(::fdopen(::dup(bytes.file()->descriptor()), "rb"));
  if (!stream) throw Refusal{"archive", std::generic_category().message(errno), kAllowedArchive};
  zip_source_t* source = zip_source_filep_create(stream.get(), 0, -1, error);
  if (source != nullptr) static_cast<void>(stream.release());  // libzip's from here on
  return source;
}

Archive open_archive(const ByteSource& bytes) {
  // libzip takes no bytes at all for an archive without members; each has at least this ending.
  constexpr std::size_t shortest = 22;
  if (bytes.size() < shortest) {
    throw Refusal{"archive", fmt::format("{} bytes", bytes.size()), kAllowedArchive};
  }
  ZipError error;
  Source source(source_of(bytes, error.get()));
  if (!source) refuse_archive(error.get());
  Archive archive(zip_open_from_source(source.get(), ZIP_RDONLY, error.get()));
  if (!archive) refuse_archive(error.get());
  static_cast<void>(source.release());  // the archive's from here on
  return archive;
}

// --- the directory -------------------------------------------------------------------------------

struct Member {
  zip_uint64_t index;
  std::string name;  // without ".npy"
  zip_uint64_t size;
  zip_uint64_t packed;
};

std::string field_of(std::string_view member) {
  return fmt::format("member '{}'", excerpt(member));
}

void check_member(const zip_stat_t& status, const std::string& name) {
  const auto refuse = [&](std::string found, std::string allowed) {
    throw Refusal{field_of(name), std::move(found), std::move(allowed)};
  };
  constexpr zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((status.valid & needed) != needed) refuse("no size or method", "both");
  const bool encrypted =
      (status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && status.encryption_method != ZIP_EM_NONE;
  if (encrypted) refuse("encryption", "no encryption");
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE) {
    refuse(fmt::format("compression method {}", status.comp_method), "0 (stored) or 8 (deflated)");
  }
  const zip_uint64_t rest = status.size - std::min(status.size, kMemberSlack);
  if (rest / kMostExpansion > status.comp_size) {
    refuse(fmt::format("{} bytes unpacked from {}", status.size, status.comp_size),
           fmt::format("at most {} times as many", kMostExpansion));
  }
}

// All sums are of numbers that were bounded before they were added.
void check_sizes(const std::vector<Member>& members, std::size_t bytes, const NpzLimits& limits) {
  const zip_uint64_t most = kMostArchiveExpansion * bytes + limits.slack;
  zip_uint64_t packed = 0;
  zip_uint64_t unpacked = 0;
  for (const Member& member : members) {
    if (member.packed > bytes - packed) {
      throw Refusal{field_of(member.name), fmt::format("{} packed bytes", member.packed),
                    fmt::format("at most the {} bytes of the archive for all members", bytes)};
    }
    packed += member.packed;
    if (member.size > most - unpacked) {
      throw Refusal{
          field_of(member.name), fmt::format("{} bytes unpacked", member.size),
          fmt::format("at most {} in all members of an archive of {} bytes", most, bytes)};
    }
    unpacked += member.size;
  }
}

void check_names(const std::vector<Member>& members) {
  std::vector<std::string_view> names;
  for (const Member& member : members) names.push_back(member.name);
  std::sort(names.begin(), names.end());
  const auto twin = std::adjacent_find(names.begin(), names.end());
  if (twin != names.end()) throw Refusal{field_of(*twin), "it twice", "every name once"};
}

std::vector<Member> directory_of(zip_t* archive) {
  std::vector<Member> members;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t k = 0; k < count; ++k) {
    const auto index = static_cast<zip_uint64_t>(k);
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_stat_index(archive, index, 0, &status) != 0) refuse_archive(zip_get_error(archive));
    std::string name = (status.valid & ZIP_STAT_NAME) != 0 ? status.name : "";
    if (!name.ends_with(kExtension)) continue;
    name.resize(name.size() - kExtension.size());
    name = encode_utf8(decode_utf8(name));
    check_member(status, name);
    members.push_back({index, std::move(name), status.size, status.comp_size});
  }
  return members;
}

// --- the members ---------------------------------------------------------------------------------

// Reads the bytes of a member from its front to its end.
class MemberReader {
 public:
  MemberReader(zip_t* archive, const Member& member)
      : member_(member), file_(zip_fopen_index(archive, member.index, 0)) {
    if (!file_) refuse(zip_get_error(archive));
  }

  void read(std::span<std::byte> out) {
    while (!out.empty()) {
      const std::size_t count = read_some(out);
      if (count == 0) refuse_length(fmt::format("{} bytes", done_));
      out = out.subspan(count);
    }
  }

  // The checksum is compared when the reading reaches the end, so it must be seen to be the end.
  void expect_end() {
    std::byte beyond{};
    if (read_some({&beyond, 1}) > 0) refuse_length("more bytes");
  }

 private:
  std::size_t read_some(std::span<std::byte> out) {
    const zip_int64_t count = zip_fread(file_.get(), out.data(), out.size());
    if (count < 0) refuse(zip_file_get_error(file_.get()));
    done_ += static_cast<std::size_t>(count);
    return static_cast<std::size_t>(count);
  }

  [[noreturn]] void refuse(zip_error_t* error) const {
    throw Refusal{field_of(member_.name), fmt::format("'{}'", excerpt(zip_error_strerror(error))),
                  fmt::format("{} bytes that can be unpacked", member_.size)};
  }

  [[noreturn]] void refuse_length(std::string found) const {
    throw Refusal{field_of(member_.name), std::move(found),
                  fmt::format("the {} bytes of the directory", member_.size)};
  }

  const Member& member_;
  File file_;
  std::size_t done_ = 0;
};

// Property (4): the header comes first.
std::shared_ptr<std::byte[]> unpack(zip_t* archive, const Member& member) {
  MemberReader reader(archive, member);
  std::vector<std::byte> front(std::min<std::size_t>(member.size, kNpyFront));
  reader.read(front);
  try {
    check_npy_size(front, member.size);
  } catch (Refusal& refusal) {
    refusal.field = fmt::format("{}: {}", field_of(member.name), refusal.field);
    throw;
  }
  std::shared_ptr<std::byte[]> bytes(new std::byte[member.size]);
  std::copy(front.begin(), front.end(), bytes.get());
  reader.read({bytes.get() + front.size(), member.size - front.size()});
  reader.expect_end();
  return bytes;
}

void read_member(zip_t* archive, const Member& member, std::string_view name, NpzContent& content) {
  const std::shared_ptr<std::byte[]> bytes = unpack(archive, member);
  NpyArray array = parse_npy_array(std::span<const std::byte>(bytes.get(), member.size),
                                   fmt::format("{}: {}", name, field_of(member.name)));
  array.tensor.name = member.name;
  content.tensors.push_back(std::move(array.tensor));
  content.storage.push_back(array.storage ? std::move(array.storage) : bytes);
}

NpzContent content_of(const ByteSource& bytes, std::string_view name, const NpzLimits& limits) {
  const Archive archive = open_archive(bytes);
  const std::vector<Member> members = directory_of(archive.get());
  check_names(members);
  check_sizes(members, bytes.size(), limits);
  NpzContent content;
  for (const Member& member : members) read_member(archive.get(), member, name, content);
  return content;
}

}  // namespace

NpzContent parse_npz(const ByteSource& bytes, std::string_view name, const NpzLimits& limits) {
  try {
    return content_of(bytes, name, limits);
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace dewpoint::checkpoint
