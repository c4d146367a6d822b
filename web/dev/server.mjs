// For development and tests only: serves dist/ as fathomd does (same content security policy, nonce, client routes), passes
// /api on to a real fathomd, and keeps sessions itself while that fathomd has none.
//
//   FATHOM_URL=https://… FATHOM_CA=ca.pem [PORT=5174] [FATHOM_DEV_TOKEN=fth_…] node dev/server.mjs
//
// With FATHOM_DEV_TOKEN nobody needs to sign in. FATHOM_SESSIONS=server passes /api/v1/session on, too.
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'

const dist = new URL('../dist/', import.meta.url)
const upstream = new URL(process.env.FATHOM_URL ?? 'https://127.0.0.1:8443')
const agent = new https.Agent({ keepAlive: true, ca: process.env.FATHOM_CA ? readFileSync(process.env.FATHOM_CA) : undefined })
const passesSessions = process.env.FATHOM_SESSIONS === 'server'
const types = { js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' }
const sessions = new Map()
const roles = {
  viewer: ['read_network', 'read_jobs', 'read_all_jobs', 'read_billing'],
  user: ['read_network', 'read_jobs', 'submit_jobs'],
  admin: ['read_network', 'read_all_jobs', 'read_uploads', 'read_jobs', 'submit_jobs', 'cancel_any_job', 'manage_metering',
    'manage_network', 'manage_tokens', 'manage_operator_keys', 'manage_prices', 'read_billing', 'manage_billing', 'read_audit_log'],
}

function ask(method, path, token, body) {
  return new Promise((resolve, reject) => {
    const request = https.request(new URL(path, upstream), {
      method, agent, headers: { Authorization: `Bearer ${token}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
    request.on('error', reject)
    request.end(body)
  })
}

/** The role behind a token, found out by what it may do; null: the token is worth nothing. */
async function roleOf(token) {
  if (await ask('GET', '/api/v1/jobs?page_size=1', token) !== 200) return null
  if (await ask('GET', '/api/v1/tokens?page_size=1', token) === 200) return 'admin'
  return await ask('POST', '/api/v1/jobs', token, '{}') === 403 ? 'viewer' : 'user'
}

function json(response, status, body, headers = {}) {
  const type = status >= 400 ? 'application/problem+json' : 'application/json'
  response.writeHead(status, { 'Content-Type': type, ...headers }).end(body === null ? '' : JSON.stringify(body))
}

function problem(response, status, code, detail) {
  json(response, status, { type: 'about:blank', title: http.STATUS_CODES[status], status, detail, code, request_id: 'req_dev' })
}

function bodyOf(request) {
  return new Promise((resolve) => {
    const chunks = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => resolve(Buffer.concat(chunks)))
  })
}

async function begin(token, name) {
  const role = await roleOf(token)
  if (!role) return null
  const id = randomBytes(16).toString('hex')
  const session = {
    name, role, permissions: roles[role], csrf_token: randomBytes(16).toString('hex'),
    expires_at: new Date(Date.now() + 12 * 3600e3).toISOString(), account: null,
  }
  sessions.set(id, { token, session })
  return id
}

const always = process.env.FATHOM_DEV_TOKEN ? await begin(process.env.FATHOM_DEV_TOKEN, 'developer') : null

function sessionOf(request) {
  const id = /(?:^|;\s*)fathom_session=([0-9a-f]+)/.exec(request.headers.cookie ?? '')?.[1] ?? always
  return id ? { id, ...sessions.get(id) } : {}
}

async function answerSession(request, response) {
  const { id, session } = sessionOf(request)
  if (request.method === 'POST' && request.url === '/api/v1/session') {
    const body = JSON.parse((await bodyOf(request)).toString() || '{}')
    const begun = body.token ? await begin(body.token, 'token') : null
    if (!begun) return problem(response, 401, 'unauthenticated', 'The token is unknown, revoked or expired.')
    return json(response, 200, sessions.get(begun).session, { 'Set-Cookie': `fathom_session=${begun}; HttpOnly; SameSite=Strict; Path=/` })
  }
  if (!session) return problem(response, 401, 'unauthenticated', 'Nobody is signed in.')
  if (request.method === 'GET') return json(response, 200, session)
  if (request.headers['x-csrf-token'] !== session.csrf_token) return problem(response, 403, 'forbidden', 'X-CSRF-Token is missing or wrong.')
  if (request.method === 'DELETE') sessions.delete(id)
  response.writeHead(204).end()
}

function pass(request, response) {
  const headers = { ...request.headers, host: upstream.host }
  if (!passesSessions) {
    const { token, session } = sessionOf(request)
    if (!token) return problem(response, 401, 'unauthenticated', 'Nobody is signed in.')
    if (!['GET', 'HEAD'].includes(request.method) && headers['x-csrf-token'] !== session.csrf_token) {
      return problem(response, 403, 'forbidden', 'X-CSRF-Token is missing or wrong.')
    }
    delete headers.cookie
    headers.authorization = `Bearer ${token}`
  }
  const onward = https.request(new URL(request.url, upstream), { method: request.method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers)
    response.flushHeaders()
    answer.pipe(response)
  })
  onward.on('error', () => (response.headersSent ? response.destroy() : problem(response, 502, 'unavailable', 'fathomd does not answer.')))
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}

function showFile(request, response) {
  const path = new URL(request.url, 'http://localhost').pathname
  if (path.startsWith('/assets/')) {
    const name = path.slice('/assets/'.length)
    if (!existsSync(new URL('assets/', dist)) || !readdirSync(new URL('assets/', dist)).includes(name)) return problem(response, 404, 'not_found', 'There is no such file.')
    return response.writeHead(200, {
      'Content-Type': types[name.split('.').pop()] ?? 'application/octet-stream', 'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'public, max-age=31536000, immutable',
    }).end(readFileSync(new URL(`assets/${name}`, dist)))
  }
  const nonce = randomBytes(16).toString('base64')
  response.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; img-src 'self' data:; ` +
      "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  }).end(readFileSync(new URL('index.html', dist), 'utf8').replace('__CSP_NONCE__', nonce))
}

http.createServer((request, response) => {
  const path = request.url.split('?')[0]
  if (!passesSessions && /^\/api\/v1\/session(\/|$)/.test(path)) return void answerSession(request, response)
  if (/^\/(api\/|metrics|healthz|readyz|openapi\.json|docs)/.test(path)) return pass(request, response)
  showFile(request, response)
}).listen(Number(process.env.PORT ?? 5174), '127.0.0.1', function () {
  console.log(`http://127.0.0.1:${this.address().port} → ${upstream.href}`)
})
