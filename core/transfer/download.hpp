#pragma once

#include "core/transfer/part_file.hpp"
#include "core/transfer/transfer.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace fathom {

/// A file that is to be had from a URL, and which content is expected.
struct Download {
    std::string url; ///< https or http; not of download_by()
    std::int64_t size_bytes{};
    std::string sha256;           ///< 64 lower-case hex digits
    std::filesystem::path file{}; ///< must not be there
};

/// Name of what has come of a file, beside it, until all of it is there.
std::filesystem::path part_of(const std::filesystem::path& file);

/// Fetches a file, and gives it its name when its size and SHA-256 are right. What an earlier call has left in
/// part_of() is gone on with; what has come stays there when this one fails, unless it has other content. Of tries,
/// those count that bring nothing beyond what was there before. Blocks.
/// @param on_bytes  called now and then with how many bytes are there
/// @error kConflict     the file is there already.
/// @error kInvalid      the server refuses, or it has other content.
/// @error kUnavailable  the network, the server or the disk failed to the last try.
/// No detail holds the URL.
Result<void> download(const Download& wanted, const TransferTries& tries,
                      const std::function<void(std::int64_t)>& on_bytes);

/// Fetches what is missing of a file: adds it to the part from its end on, or restarts the part and adds all.
/// @error  as download(): the codes say whether another try may help (is_transient()).
using FetchRest = std::function<Result<void>(PartFile& part)>;

/// download() by other means than a URL.
Result<void> download_by(const Download& wanted, const TransferTries& tries, const FetchRest& fetch);

} // namespace fathom
