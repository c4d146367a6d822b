import { expect, it } from 'vitest'
import { parseDepth } from './queue'

it('queue depths are read from metrics, and from nothing else', () => {
  const text = '# TYPE fathom_jobs gauge\nfathom_jobs{state="running"} 3\nfathom_jobs{state="queued"} 12\nfathom_jobs_submitted_total 99\n'
  expect(parseDepth(text)).toEqual({ running: 3, queued: 12 })
})
