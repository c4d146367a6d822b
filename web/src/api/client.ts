import createClient, { type Middleware } from 'openapi-fetch'
import { ApiError, errorOf } from './problem'
import type { paths } from './schema'
import { csrfToken, reportExpiry } from './session_state'

const session: Middleware = {
  onRequest({ request }) {
    const token = csrfToken()
    if (token && request.method !== 'GET') request.headers.set('X-CSRF-Token', token)
    return request
  },
  onResponse({ response }) {
    if (response.status === 401) reportExpiry()
    return undefined
  },
  onError() {
    return new ApiError(0, 'No answer from the server.')
  },
}

/** The REST interface, typed by schema/openapi.yaml. */
export const api = createClient<paths>({ baseUrl: typeof window === 'undefined' ? '' : window.location.origin, credentials: 'same-origin' })
api.use(session)

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/** The body of a good answer; anything else is thrown as an ApiError. */
export async function unwrap<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer
  if (!response.ok) throw errorOf(response, error)
  return data as T
}

/** A fresh key that makes repeating a POST harmless. */
export function idempotencyKey(): string {
  return crypto.randomUUID()
}
