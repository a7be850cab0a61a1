#include "dewpoint/checkpoint/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "dewpoint/checkpoint/npy_array.hpp"
#include "dewpoint/checkpoint/refusal.hpp"
#include "dewpoint/checkpoint/utf8.hpp"
#include "dewpoint/checkpoint/zip_handles.hpp"
#include "dewpoint/core/error.hpp"

namespace dewpoint::checkpoint {
namespace {

using Bytes = std::span<const std::byte>;

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

Archive open_archive(Bytes bytes) {
  // libzip takes no bytes at all for an archive without members; each has at least this ending.
  constexpr std::size_t shortest = 22;
  if (bytes.size() < shortest) {
    throw Refusal{"archive", fmt::format("{} bytes", bytes.size()), kAllowedArchive};
  }
  ZipError error;
  Source source(zip_source_buffer_create(bytes.data(), bytes.size(), 0, error.get()));
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

// The checksum is compared when the reading reaches the end, so it must be seen to be the end.
std::shared_ptr<std::byte[]> unpack(zip_t* archive, const Member& member) {
  const auto refuse = [&](zip_error_t* error) {
    throw Refusal{field_of(member.name), fmt::format("'{}'", excerpt(zip_error_strerror(error))),
                  fmt::format("{} bytes that can be unpacked", member.size)};
  };
  const File file(zip_fopen_index(archive, member.index, 0));
  if (!file) refuse(zip_get_error(archive));
  std::shared_ptr<std::byte[]> bytes(new std::byte[member.size]);
  zip_uint64_t done = 0;
  while (done < member.size) {
    const zip_int64_t count = zip_fread(file.get(), bytes.get() + done, member.size - done);
    if (count < 0) refuse(zip_file_get_error(file.get()));
    if (count == 0) break;
    done += static_cast<zip_uint64_t>(count);
  }
  std::byte beyond{};
  const zip_int64_t more = zip_fread(file.get(), &beyond, 1);
  if (more < 0) refuse(zip_file_get_error(file.get()));
  if (done < member.size || more > 0) {
    throw Refusal{field_of(member.name),
                  more > 0 ? std::string("more bytes") : fmt::format("{} bytes", done),
                  fmt::format("the {} bytes of the directory", member.size)};
  }
  return bytes;
}

void read_member(zip_t* archive, const Member& member, std::string_view name, NpzContent& content) {
  const std::shared_ptr<std::byte[]> bytes = unpack(archive, member);
  NpyArray array = parse_npy_array({bytes.get(), member.size},
                                   fmt::format("{}: {}", name, field_of(member.name)));
  array.tensor.name = member.name;
  content.tensors.push_back(std::move(array.tensor));
  content.storage.push_back(array.storage ? std::move(array.storage) : bytes);
}

NpzContent content_of(Bytes bytes, std::string_view name, const NpzLimits& limits) {
  const Archive archive = open_archive(bytes);
  const std::vector<Member> members = directory_of(archive.get());
  check_names(members);
  check_sizes(members, bytes.size(), limits);
  NpzContent content;
  for (const Member& member : members) read_member(archive.get(), member, name, content);
  return content;
}

}  // namespace

NpzContent parse_npz(std::span<const std::byte> bytes, std::string_view name,
                     const NpzLimits& limits) {
  try {
    return content_of(bytes, name, limits);
  } catch (const Refusal& refusal) {
    throw to_error(Code::malformed_file, name, refusal);
  }
}

}  // namespace dewpoint::checkpoint
