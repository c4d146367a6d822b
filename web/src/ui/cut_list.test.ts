import { expect, it } from 'vitest'
import { en } from '../i18n/en'
import { fill } from '../i18n/language'
import { cutOption } from './cut_list'

const t = (key: keyof typeof en, values?: Record<string, string | number>) => fill(en[key], values)

it('a list that was read as a whole offers nothing but its entries', () => {
  expect(cutOption(t, { data: ['a', 'b'], isCut: false })).toEqual([])
  expect(cutOption(t, { data: undefined, isCut: false })).toEqual([])
})

it('a list that is cut says so at its end, and that cannot be chosen', () => {
  expect(cutOption(t, { data: ['a', 'b'], isCut: true })).toEqual([{ value: '…', label: 'and more than these 2', disabled: true }])
})
