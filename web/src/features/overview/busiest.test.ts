import { expect, it } from 'vitest'
import type { UnitType } from '../../queries/unit_types'
import { busiest } from './busiest'

const unit = (name: string, units_in_use: number, unit_count: number) => ({ name, units_in_use, unit_count }) as UnitType
const units = [unit('idle', 0, 4), unit('half', 4, 8), unit('full', 1, 1), unit('none', 0, 0), unit('also half', 1, 2)]
const names = (most: number) => busiest(units, most).map((one) => one.name)

it('all unit types that have room stay in their order', () => {
  expect(names(5)).toEqual(['idle', 'half', 'full', 'none', 'also half'])
})

it('of more than have room, the fullest are shown, those that are alike in their order', () => {
  expect(names(3)).toEqual(['full', 'half', 'also half'])
})
