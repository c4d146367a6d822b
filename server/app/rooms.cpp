#include "server/app/rooms.hpp"

#include "server/identity/identity_api.hpp"

namespace fathom::server {

// To add a room: (1) include its headers above, (2) add its objects to State as members, in the order of who needs
// whom (members are destroyed in reverse), built from `context`, (3) call its add_…_routes() in the constructor, (4) if
// it needs a start or a stop, call it in Rooms::start() and, in reverse order, in Rooms::stop(). CMake links
// fathom_server_<room> as soon as the room's folder has a CMakeLists.txt; a new folder name goes into the two lists
// in server/CMakeLists.txt and server/app/CMakeLists.txt.
struct Rooms::State {
    explicit State(const RoomContext& room_context) : context(room_context) {}

    RoomContext context;
    // Rooms, one comment each: what it is for.
};

Rooms::Rooms(const RoomContext& context) : state_(std::make_unique<State>(context))
{
    add_identity_routes(context.api, context.identity, context.database);
}

Rooms::~Rooms() = default;

Result<void> Rooms::start()
{
    return {};
}

void Rooms::stop() {}

} // namespace fathom::server
