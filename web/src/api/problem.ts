import type { components } from './schema'

export type Problem = components['schemas']['Problem']
export type FieldError = components['schemas']['FieldError']

/** Whether a value is RFC 9457 problem details as the server writes them. */
export function isProblem(value: unknown): value is Problem {
  if (typeof value !== 'object' || value === null) return false
  const fields = value as Record<string, unknown>
  return typeof fields.status === 'number' && typeof fields.title === 'string' && typeof fields.detail === 'string' &&
    typeof fields.code === 'string' && typeof fields.request_id === 'string'
}

/** A request that failed: with the server's own words, or because nothing of sense came back. */
export class ApiError extends Error {
  override readonly name = 'ApiError'

  constructor(
    /** HTTP's status; 0: no answer came. */
    readonly status: number,
    message: string,
    readonly problem: Problem | null = null,
    /** What Retry-After asks for, in seconds. */
    readonly retryAfterS: number | null = null,
  ) {
    super(message)
  }
}

/** The error that stands for an answer. */
export function errorOf(response: Response, body: unknown): ApiError {
  const after = Number(response.headers.get('Retry-After'))
  const retryAfterS = Number.isFinite(after) && after > 0 ? after : null
  if (isProblem(body)) return new ApiError(response.status, body.detail || body.title, body, retryAfterS)
  return new ApiError(response.status, response.statusText || `HTTP ${response.status}`, null, retryAfterS)
}

/** What an error says of each field of a form, by the field's path; `say` puts each of its sentences into words. */
export function fieldErrors(error: unknown, say = (sentence: string) => sentence): Record<string, string> {
  const errors = error instanceof ApiError ? error.problem?.errors ?? [] : []
  const byField: Record<string, string> = {}
  for (const { field, detail } of errors) byField[field] = byField[field] ? `${byField[field]} ${say(detail)}` : say(detail)
  return byField
}
