import { ApiError, errorOf } from './problem'
import { csrfToken } from './session_state'

export const permissions = [
  'read_network', 'read_all_jobs', 'read_uploads', 'read_jobs', 'submit_jobs', 'cancel_any_job', 'manage_metering',
  'manage_network', 'manage_tokens', 'manage_operator_keys', 'manage_authority', 'manage_prices', 'read_billing',
  'manage_billing', 'read_audit_log',
] as const
export type Permission = (typeof permissions)[number]

/** What a member of a project may do there. */
export const projectRoles = ['viewer', 'submitter', 'lead'] as const
export type ProjectRole = (typeof projectRoles)[number]

/** Who is signed in. */
export interface Session {
  name: string
  /** The identity that projects and the audit log name. */
  token_id?: string
  role: string
  permissions: readonly Permission[]
  /** Those of which all jobs may be seen, with the role there. */
  projects: Readonly<Record<string, ProjectRole>>
  csrf_token: string
  expires_at: string
  /** Name of the account; null where a token signed in. */
  account: string | null
  /** That the account may change here. */
  has_password: boolean
}

export type Credentials = { token: string } | { name: string; password: string }

const path = '/api/v1/session'

async function ask(method: string, at: string, body?: unknown): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json' }
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (method !== 'GET' && csrfToken()) headers['X-CSRF-Token'] = csrfToken()
  let response: Response
  try {
    response = await fetch(at, {
      method, headers, credentials: 'same-origin', ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  } catch {
    throw new ApiError(0, 'No answer from the server.')
  }
  if (!response.ok) throw errorOf(response, await response.json().catch(() => null))
  return response
}

function parse(value: unknown): Session {
  const session = value as Partial<Session> | null
  if (!session || typeof session.name !== 'string' || !Array.isArray(session.permissions))
    throw new ApiError(0, 'The answer is not a session.')
  // Null where a development server asks with a token of its own.
  return { ...session, projects: session.projects ?? {}, role: session.role ?? '', account: session.account ?? null, has_password: session.has_password ?? false, csrf_token: session.csrf_token ?? '', expires_at: session.expires_at ?? '' } as Session
}

/** The session of the cookie; null when nobody is signed in. */
export async function readSession(): Promise<Session | null> {
  try {
    return parse(await (await ask('GET', path)).json())
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

/** What people call the provider that signs them in; null: there is none. */
export async function readProvider(): Promise<string | null> {
  const { name } = (await (await ask('GET', `${path}/oidc`)).json()) as { name?: unknown }
  return typeof name === 'string' ? name : null
}

/** Where the browser goes to sign in by the provider, and from there back to where it is. */
export function providerAddress({ pathname, search }: { pathname: string; search: string }): string {
  return `${path}/oidc/start?return_to=${encodeURIComponent(pathname + search)}`
}

export async function signIn(credentials: Credentials): Promise<Session> {
  return parse(await (await ask('POST', path, credentials)).json())
}

export async function signOut(): Promise<void> {
  await ask('DELETE', path)
}

export async function changePassword(oldPassword: string, newPassword: string): Promise<void> {
  await ask('POST', `${path}/password`, { old_password: oldPassword, new_password: newPassword })
}
