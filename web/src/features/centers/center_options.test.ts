import { expect, it } from 'vitest'
import { namesWith } from './center_options'

it('a center that is chosen is offered, also one that was not read', () => {
  expect(namesWith([{ name: 'alpha' }, { name: 'beta' }], '')).toEqual(['alpha', 'beta'])
  expect(namesWith([{ name: 'alpha' }, { name: 'beta' }], 'alpha')).toEqual(['alpha', 'beta'])
  expect(namesWith([{ name: 'alpha' }], 'zeta')).toEqual(['alpha', 'zeta'])
})
