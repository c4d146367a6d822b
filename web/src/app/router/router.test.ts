import { describe, expect, it } from 'vitest'
import { matchPath, pathTo } from './match'
import { changeFilters, readFilters } from './search'

describe('paths', () => {
  it('fit patterns part by part', () => {
    expect(matchPath('/jobs/:id', '/jobs/job_1')).toEqual({ id: 'job_1' })
    expect(matchPath('/jobs/:id', '/jobs/')).toBeNull()
    expect(matchPath('/jobs', '/jobs/')).toEqual({})
    expect(matchPath('/', '/')).toEqual({})
    expect(matchPath('/centers/:name', '/centers/a%2Fb')).toEqual({ name: 'a/b' })
    expect(matchPath('/centers/:name', '/centers/%E0%A4%A')).toBeNull()
  })

  it('are built from parameters', () => {
    expect(pathTo('/centers/:name', { name: 'a/b' })).toBe('/centers/a%2Fb')
  })
})

describe('filters', () => {
  it('are read from the query', () => {
    expect(readFilters('?state=queued&x=1', ['state', 'project'])).toEqual({ state: 'queued', project: '' })
  })

  it('change only what is named', () => {
    expect(changeFilters('?state=queued&x=1', { state: 'running' })).toBe('?state=running&x=1')
    expect(changeFilters('?state=queued', { state: '' })).toBe('')
    expect(changeFilters('', { project: 'a b' })).toBe('?project=a+b')
  })
})
