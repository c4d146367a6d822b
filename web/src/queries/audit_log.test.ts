import { expect, it } from 'vitest'
import { auditQuery } from './audit_log'

it('REST is asked with those filters only that there are', () => {
  const none = { actor: '', action: '', subject: '', since: '', until: '' }
  expect(auditQuery(none)).toEqual({})
  expect(auditQuery({ ...none, actor: 'tok_1', since: '2026-12-01T00:00:00Z' })).toEqual({ actor: 'tok_1', since: '2026-12-01T00:00:00Z' })
})
