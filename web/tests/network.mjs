// A real network for tests, and a server for the console where fathomd does not serve it: FATHOM_CONSOLE_FROM=fathomd
// asks fathomd itself for the console and for sessions.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const python = process.env.PYTHON ?? '/usr/bin/python3'

function firstLine(child) {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('exit', (status) => reject(new Error(`ended with ${status} before it said anything`)))
  })
}

function stopped(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null) resolve()
    else child.once('exit', resolve)
  })
}

/** Starts fathomd with agents (none with {empty: true}); `stop` ends and removes everything. */
export async function startNetwork({ empty = false } = {}) {
  const script = new URL('network.py', import.meta.url).pathname
  const network = spawn(python, [script, ...(empty ? ['--empty'] : [])], { stdio: ['pipe', 'pipe', 'inherit'] })
  const said = JSON.parse(await firstLine(network))
  const children = [network]
  let url = said.url
  if (process.env.FATHOM_CONSOLE_FROM !== 'fathomd') {
    const server = spawn(process.execPath, [new URL('../dev/server.mjs', import.meta.url).pathname], {
      stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, FATHOM_URL: said.url, FATHOM_CA: said.ca, PORT: '0' },
    })
    url = (await firstLine(server)).split(' ')[0]
    children.push(server)
  }
  return {
    ...said, url,
    async stop() {
      children[1]?.kill()
      network.stdin.end()
      await Promise.all(children.map(stopped))
    },
  }
}
