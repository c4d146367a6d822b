// A real network for tests: fathomd, which serves the console, and two centers.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const python = process.env.PYTHON ?? '/usr/bin/python3'

/**
 * Starts fathomd with agents (none with {empty: true}, with eight sub-units each with {subUnits: true}, one that balances a GPU with
 * {balance: true}); `stop` ends and removes everything, `restart` kills fathomd only. `settings` are further flags of fathomd, in which
 * {url} becomes its address.
 */
export async function startNetwork({ empty = false, subUnits = false, balance = false, settings = [] } = {}) {
  const script = new URL('network.py', import.meta.url).pathname
  const network = spawn(python, [script, ...(empty ? ['--empty'] : []), ...(subUnits ? ['--sub-units'] : []), ...(balance ? ['--balance'] : []), '--', ...settings], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => network.once('exit', resolve))
  const lines = createInterface({ input: network.stdout })[Symbol.asyncIterator]()
  async function line() {
    const { value, done } = await lines.next()
    if (done) throw new Error('the network ended before it answered')
    return value
  }
  return {
    ...JSON.parse(await line()),
    /** How busy the link and the computing of the balanced GPU are from now on, 0 to 1. */
    async beBusy(transfer, load) {
      network.stdin.write(`busy ${transfer} ${load}\n`)
      await line()
    },
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
