// A real OpenID Connect provider for tests, over HTTPS, of another site than fathomd's: 'localhost', not 127.0.0.1.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Provider from 'oidc-provider'

const secret = 'known to fathomd and its provider: & % +'

/**
 * Listens at once; `serve` then knows the address of the console, and who signs in: {name: {groups}}. `settings` are those of
 * fathomd but for the roles.
 */
export async function openProvider() {
  const folder = mkdtempSync(join(tmpdir(), 'fathom-openid-'))
  const [key, certificate, secretFile] = ['key.pem', 'certificate.pem', 'secret'].map((name) => join(folder, name))
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=localhost',
    '-addext', 'subjectAltName=DNS:localhost', '-keyout', key, '-out', certificate], { stdio: 'ignore' })
  writeFileSync(secretFile, `${secret}\n`, { mode: 0o600 })
  let answer = null
  const server = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (request, response) => answer(request, response))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `https://localhost:${server.address().port}`
  return {
    issuer,
    settings: ['--public-url', '{url}', '--oidc-issuer', issuer, '--oidc-client-id', 'fathom', '--oidc-client-secret-file', secretFile, '--oidc-ca-file',
      certificate, '--oidc-scopes', 'openid profile groups', '--oidc-name', 'Example ID'],
    serve(console, people) {
      const provider = new Provider(issuer, {
        clients: [{ client_id: 'fathom', client_secret: secret, redirect_uris: [`${console}/api/v1/session/oidc/callback`], response_types: ['code'] }],
        claims: { openid: ['sub'], profile: ['preferred_username'], groups: ['groups'] },
        scopes: ['openid', 'profile', 'groups'],
        pkce: { required: () => true },
        cookies: { keys: ['only for tests'] },
        findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: `subject of ${id}`, preferred_username: id, ...people[id] }) }),
      })
      answer = provider.callback()
    },
    stop() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
    remove() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** What people do there: who they are, and that the console may know it. */
export async function signInThere(page, name) {
  await page.locator('input[name=login]').fill(name)
  await page.locator('input[name=password]').fill('any')
  await page.getByRole('button', { name: 'Sign-in' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
}
