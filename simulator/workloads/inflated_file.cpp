#include "simulator/workloads/inflated_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <zlib.h>

namespace fathom::simulation {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMaxLineLength = 4UL << 20U;

} // namespace

void InflatedFile::Close::operator()(gzFile_s* file) const
{
    gzclose(file);
}

Result<std::unique_ptr<InflatedFile>> InflatedFile::open(const std::filesystem::path& path)
{
    // zlib opens a folder like a file, and then cannot read it.
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
        return Error{Errc::kNotFound, fmt::format("{} is a folder", path.string())};
    errno = 0;
    gzFile_s* file = gzopen(path.c_str(), "rb");
    if (file == nullptr) {
        const std::string why = std::system_category().message(errno);
        return Error{Errc::kNotFound, fmt::format("cannot open {}: {}", path.string(), why)};
    }
    return std::unique_ptr<InflatedFile>(new InflatedFile(file));
}

std::string_view InflatedFile::ahead()
{
    if (sgetc() == traits_type::eof()) return {};
    return {gptr(), static_cast<std::size_t>(egptr() - gptr())};
}

bool InflatedFile::is_line_too_long(std::string_view block)
{
    const std::size_t end = block.rfind('\n');
    line_bytes_ = end == std::string_view::npos ? line_bytes_ + block.size() : block.size() - end - 1;
    return line_bytes_ > kMaxLineLength;
}

InflatedFile::int_type InflatedFile::underflow()
{
    if (line_bytes_ > kMaxLineLength) return traits_type::eof();
    const int count = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
    // A compressed file that was cut off reads to its end; only the error tells.
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code != Z_OK && damage_.empty()) damage_ = code == Z_BUF_ERROR ? "the compressed data ends too early" : text;
    if (count <= 0) return traits_type::eof();
    const std::string_view block(buffer_.data(), static_cast<std::size_t>(count));
    if (is_line_too_long(block)) {
        damage_ = "a line is longer than 4 MiB";
        return traits_type::eof();
    }
    const std::size_t begin = !std::exchange(has_begun_, true) && block.starts_with(kByteOrderMark) ? 3 : 0;
    if (begin == block.size()) return underflow();
    setg(buffer_.data(), buffer_.data() + begin, buffer_.data() + count);
    return traits_type::to_int_type(*gptr());
}

} // namespace fathom::simulation
