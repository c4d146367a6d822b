// The one place where the separately compiled parts of Asio and Beast are built.
// Every target that includes an Asio header must link fathom_net, which carries the defines.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
