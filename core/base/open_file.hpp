#pragma once

namespace fathom {

/// The number of an open file, folder, pipe or socket; closed when it goes. Negative: none is open.
class OpenFile {
  public:
    explicit OpenFile(int number = -1) : number_(number) {}
    ~OpenFile();
    OpenFile(OpenFile&& other) noexcept : number_(other.release()) {}
    OpenFile& operator=(OpenFile&& other) noexcept;
    OpenFile(const OpenFile&) = delete;
    OpenFile& operator=(const OpenFile&) = delete;

    int number() const { return number_; }
    int release();

  private:
    int number_;
};

} // namespace fathom
