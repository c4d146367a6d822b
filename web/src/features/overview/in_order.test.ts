import { expect, it } from 'vitest'
import type { UnitTypeUse, UnitUse } from '../../queries/unit_use'
import { inOrder } from './in_order'

const unit = (center: string, name: string) => ({ center, name }) as UnitTypeUse
const fullest = [unit('beta', 'full'), unit('alpha', 'half'), unit('beta', 'also half'), unit('alpha', 'empty')]
const names = (unit_type_count: number) => inOrder({ fullest, unit_type_count } as UnitUse).map((one) => `${one.center} ${one.name}`)

it('all unit types that there are stand by name', () => {
  expect(names(4)).toEqual(['alpha empty', 'alpha half', 'beta also half', 'beta full'])
})

it('of more than are named, the fullest come first', () => {
  expect(names(5)).toEqual(['beta full', 'alpha half', 'beta also half', 'alpha empty'])
})
