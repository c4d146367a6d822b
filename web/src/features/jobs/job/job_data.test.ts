import { expect, it } from 'vitest'
import type { Job } from '../../../queries/jobs'
import { dataOf, outputAddress } from './job_data'

it('joins what a job declares with what its attempt has stored', () => {
  const job = {
    spec: {
      inputs: [{ url: 'https://h/set?signature=secret', path: 'in/set', sha256: '', size_bytes: 5 }],
      outputs: [{ path: 'sum', url: 'https://h/sum?signature=secret' }, { path: 'log', url: 'file:///results/log' }],
    },
    attempt: { outputs: [{ path: 'sum', size_bytes: 2, sha256: 'ab' }] },
  } as unknown as Job

  expect(dataOf(job)).toEqual({
    inputs: [{ path: 'in/set', url: 'https://h/set', sizeBytes: 5, sha256: '' }],
    outputs: [
      { path: 'sum', url: 'https://h/sum', isStored: true, sizeBytes: 2, sha256: 'ab' },
      { path: 'log', url: 'file:///results/log', isStored: false, sizeBytes: null, sha256: '' },
    ],
  })
  const later = { spec: { inputs: [{ from: 'job:job_1/sum', url: 'https://h/sum?signature=secret', path: 'a' }] } } as unknown as Job
  expect(dataOf(later).inputs[0]?.url).toBe('job:job_1/sum')
  expect(dataOf({ ...job, spec: {}, attempt: null } as unknown as Job)).toEqual({ inputs: [], outputs: [] })
})

it('names the copy of an output by its job and its path', () => {
  expect(outputAddress('job_1', 'out/a b&c.csv')).toBe('/api/v1/jobs/job_1/output?path=out%2Fa%20b%26c.csv')
})
