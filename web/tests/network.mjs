// A real network for tests: fathomd, which serves the console, and two centers.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const python = process.env.PYTHON ?? '/usr/bin/python3'

/**
 * Starts fathomd with agents (none with {empty: true}, with eight sub-units each with {subUnits: true}); `stop` ends and removes
 * everything, `restart` kills fathomd only. `settings` are further flags of fathomd, in which {url} becomes its address.
 */
export async function startNetwork({ empty = false, subUnits = false, settings = [] } = {}) {
  const script = new URL('network.py', import.meta.url).pathname
  const network = spawn(python, [script, ...(empty ? ['--empty'] : []), ...(subUnits ? ['--sub-units'] : []), '--', ...settings], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => network.once('exit', resolve))
  const lines = createInterface({ input: network.stdout })[Symbol.asyncIterator]()
  async function line() {
    const { value, done } = await lines.next()
    if (done) throw new Error('the network ended before it answered')
    return value
  }
  return {
    ...JSON.parse(await line()),
    async restart() {
      network.stdin.write('restart\n')
      await line()
    },
    async stop() {
      network.stdin.end()
      await ended
    },
  }
}
