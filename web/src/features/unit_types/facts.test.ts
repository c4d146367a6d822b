import { expect, it } from 'vitest'
import { flatFacts } from './facts'

it('facts are flat', () => {
  expect(flatFacts({ model: 'EPYC', cache: { l2_bytes: 1048576, l3: null }, flags: ['avx2', 'fma'], links: [{ to: 1 }] })).toEqual([
    ['model', 'EPYC'], ['cache.l2_bytes', '1.00 MiB'], ['cache.l3', 'null'], ['flags', 'avx2, fma'], ['links', '{"to":1}']])
  expect(flatFacts(null)).toEqual([])
})
