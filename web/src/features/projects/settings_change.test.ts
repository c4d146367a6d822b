import { expect, it } from 'vitest'
import { changeOf, typedOf, wrongFields } from './settings_change'

const before = typedOf(null)

it('only what differs is sent, and money as it was typed', () => {
  expect(changeOf(before, before)).toEqual({})
  expect(changeOf(before, { ...before, share: '2', max_cost: '250.00', centers: ' alpha , beta,' })).toEqual({
    share: 2, max_cost: '250.00', centers: ['alpha', 'beta'] })
  expect(changeOf({ ...before, centers: 'alpha' }, before)).toEqual({ centers: [] })
})

it('figures that are none are told by field', () => {
  expect(wrongFields(before)).toEqual([])
  expect(wrongFields({ ...before, share: '', max_units: '1.5', max_cost: '1.1234567' })).toEqual(['share', 'max_units', 'max_cost'])
})
