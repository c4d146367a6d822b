"""A TCP balancer in a thread of this process, whose network can be cut or made slow."""
import asyncio
import random
import threading

CHUNK_BYTES = 16384
SLOW_BYTES_PER_S = 50_000
SLOW_DELAY_S = 0.2


class Relay:
    """Passes connections on to backends in turn; a backend that refuses is left out. `up` is from the client to the backend.

    Bytes that a cut holds back are delivered when it ends, as TCP does after a loss of packets: connections of before stand
    until an end gives them up."""

    def __init__(self, port, backends):
        self.port, self.backends = port, backends
        self._loop = asyncio.new_event_loop()
        self._gates = {"up": asyncio.Event(), "down": asyncio.Event()}
        self._is_slow = False
        self._writers = set()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()
        self._ready.wait()
        return self

    def stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def cut(self, *directions):
        """Nothing passes in these directions ("up", "down") until heal()."""
        self._call(lambda: [self._gates[direction].clear() for direction in directions])

    def slow(self):
        """Each connection gets 50 KB/s, and each piece is 0.2 s late."""
        self._call(lambda: setattr(self, "_is_slow", True))

    def reset(self):
        """Ends every connection at once."""
        self._call(lambda: [writer.transport.abort() for writer in self._writers])

    def heal(self):
        def open_all():
            self._is_slow = False
            for gate in self._gates.values():
                gate.set()
        self._call(open_all)

    def _call(self, change):
        done = threading.Event()

        def apply():
            change()
            done.set()
        self._loop.call_soon_threadsafe(apply)
        done.wait()

    def _run(self):
        asyncio.set_event_loop(self._loop)
        for gate in self._gates.values():
            gate.set()
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", self.port))
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))

    async def _serve(self, reader, writer):
        backend = await self._connect()
        if backend is None:
            writer.transport.abort()
            return
        ends = {writer, backend[1]}
        self._writers |= ends
        try:
            await asyncio.gather(self._pass_on(reader, backend[1], "up"), self._pass_on(backend[0], writer, "down"))
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._writers -= ends
            for end in ends:
                end.transport.abort()

    async def _connect(self):
        for port in random.sample(self.backends, len(self.backends)):
            try:
                return await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                continue
        return None

    async def _pass_on(self, reader, writer, direction):
        while data := await reader.read(CHUNK_BYTES):
            if self._is_slow:
                await asyncio.sleep(SLOW_DELAY_S + len(data) / SLOW_BYTES_PER_S)
            await self._gates[direction].wait()
            writer.write(data)
            await writer.drain()
        await self._gates[direction].wait()
        # One end has closed: the other has to know.
        writer.close()
