import { describe, expect, it } from 'vitest'
import { ApiError, errorOf, fieldErrors, isProblem } from './problem'

const problem = {
  type: 'about:blank', title: 'Bad Request', status: 400, detail: 'Two fields are wrong.', code: 'invalid' as const,
  request_id: 'req_1', errors: [
    { field: 'name', detail: 'is empty' }, { field: 'units.count', detail: 'is 0' }, { field: 'name', detail: 'is needed' }],
}

describe('problems', () => {
  it('are told from other bodies', () => {
    expect(isProblem(problem)).toBe(true)
    expect(isProblem({ ...problem, request_id: undefined })).toBe(false)
    expect(isProblem('<html>')).toBe(false)
    expect(isProblem(null)).toBe(false)
  })

  it('become errors with the server\'s words', () => {
    const error = errorOf(new Response(null, { status: 400 }), problem)
    expect(error.message).toBe('Two fields are wrong.')
    expect(error.problem?.request_id).toBe('req_1')
  })

  it('keep what a proxy in between answers', () => {
    const error = errorOf(new Response(null, { status: 502, statusText: 'Bad Gateway' }), '<html>')
    expect([error.status, error.message, error.problem]).toEqual([502, 'Bad Gateway', null])
  })

  it('tell when to come again', () => {
    expect(errorOf(new Response(null, { status: 429, headers: { 'Retry-After': '7' } }), problem).retryAfterS).toBe(7)
  })

  it('give the errors of a form, several of a field together', () => {
    expect(fieldErrors(new ApiError(400, '', problem))).toEqual({ name: 'is empty is needed', 'units.count': 'is 0' })
    expect(fieldErrors(new Error('x'))).toEqual({})
  })
})
