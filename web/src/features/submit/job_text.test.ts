import { describe, expect, it } from 'vitest'
import { writeDocument } from '../../ui/document_text'
import { canPreview, changeJob, jobAgain, readJob } from './job_text'

describe('a job as text', () => {
  const spec = { name: 'scf', command: ['pw.x', '-in', 'si.in'], operators: [{ id: 'dgemm', parameters: { m: 512 }, count: 3000 }] }

  it('is the same job read again, in both formats', () => {
    for (const format of ['yaml', 'json'] as const) expect(readJob(writeDocument(spec, format), format)).toEqual({ spec, error: null })
  })

  it('says why it is none', () => {
    expect(readJob('{', 'json').error).toBeTruthy()
    expect(readJob('a: [', 'yaml').error).toBeTruthy()
    expect(readJob('[1]', 'json').error).toBe('not an object')
    expect(readJob('', 'yaml')).toEqual({ spec: {}, error: null })
  })

  it('does not let aliases blow it up', () => {
    const text = `a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c]\n`
    expect(readJob(text, 'yaml').error).toBeTruthy()
  })
})

const step = { name: 'read', command: ['read'], operators: [{ id: 'dgemm' }] }

describe('changing a job', () => {
  it('removes what is emptied and leaves the rest', () => {
    expect(changeJob({ name: 'a', project: 'p', data: {} }, { name: '' })).toEqual({ project: 'p', data: {} })
    expect(changeJob({}, { units: { type: 'core' } })).toEqual({ units: { type: 'core' } })
  })

  it('can be previewed once there is something to run', () => {
    expect([canPreview({}), canPreview({ command: [] }), canPreview({ script: 'x' }), canPreview({ steps: [step] })]).toEqual([false, false, true, true])
  })

  it('again has no secrets and no past deadline', () => {
    expect(jobAgain({ spec: { name: 'a', deadline: '2020-01-01T00:00:00Z', secret_environment: { K: null }, environment: {} } })).toEqual({ name: 'a' })
  })

  it('again has its steps, and not the script that runs them', () => {
    const spec = { name: 'a', script: "#!/bin/sh\n'read' ||", operators: step.operators, inputs: [{ url: 'https://h/in', path: 'in' }] }
    const steps = { split: 'allowed' as const, items: [step], division: null, parts: [], part: 0 }
    expect(jobAgain({ spec, steps })).toEqual({ name: 'a', split: 'allowed', steps: [step] })
  })
})
