import { describe, expect, it } from 'vitest'
import { centersBefore, type ChangeRow, choicesOf, originOf, rowsOf, rowsText, toOrder, usual } from './choices'

const doubled: ChangeRow = { kind: 'scale_units', center: 'beta', unitType: '', value: '2' }

describe('the choices of a simulation', () => {
  it('come back from the address, whatever characters names have', () => {
    const rows: ChangeRow[] = [doubled, { kind: 'add_center', center: 'a,b;c %', unitType: '', value: 'β/γ' }, { kind: 'remove_center', center: 'delta', unitType: '', value: '' }]
    expect(rowsOf(rowsText(rows))).toEqual(rows)
    expect(rowsText([doubled])).toBe('scale_units,beta,,2')
  })

  it('leave out what an address has that is none of ours', () => {
    expect(rowsOf('close,beta,,;;scale_units,beta')).toEqual([{ kind: 'scale_units', center: 'beta', unitType: '', value: '' }])
    expect(rowsOf('scale_units,%E0%A4,,2')).toEqual([{ kind: 'scale_units', center: '', unitType: '', value: '2' }])
  })

  it('are the usual ones where the address has none', () => {
    expect(choicesOf({ days: '30', jobs: '', seed: '', policy: '', policy_after: '', changes: '' })).toEqual({ ...usual, days: '30' })
  })

  it('become what the server takes', () => {
    const rows: ChangeRow[] = [
      doubled, { kind: 'set_units', center: 'alpha', unitType: 'core', value: '128' },
      { kind: 'add_center', center: ' gamma ', unitType: '', value: 'beta' }, { kind: 'remove_center', center: 'delta', unitType: '', value: '' }]
    expect(toOrder(usual, rows)).toEqual({
      order: {
        days: 7, max_jobs: 5000, seed: 1, policy: 'fathom', policy_after: 'fathom',
        changes: [
          { kind: 'scale_units', center: 'beta', factor: 2 }, { kind: 'set_units', center: 'alpha', unit_type: 'core', unit_count: 128 },
          { kind: 'add_center', center: 'gamma', like: 'beta' }, { kind: 'remove_center', center: 'delta' }],
      },
      rows: [{}, {}, {}, {}], wrong: {},
    })
  })

  it('say what is wrong with which field', () => {
    const checked = toOrder({ ...usual, days: '91', jobs: '1.5', seed: '' }, [
      { kind: 'scale_units', center: '', unitType: '', value: '0' }, { kind: 'set_units', center: 'alpha', unitType: '', value: '' },
      { kind: 'add_center', center: 'gamma', unitType: '', value: '' }])
    expect(checked.order).toBeNull()
    expect(Object.keys(checked.wrong)).toEqual(['days', 'jobs', 'seed'])
    expect(checked.rows.map((row) => Object.keys(row).sort())).toEqual([['center', 'value'], ['unitType', 'value'], ['value']])
  })

  it('need a change, or another policy', () => {
    expect(toOrder(usual, []).wrong.changes).toBeDefined()
    expect(toOrder({ ...usual, policy_after: 'first_come' }, []).order?.policy_after).toBe('first_come')
    expect(toOrder({ ...usual, policy: 'no such', policy_after: 'oracle' }, []).order?.policy).toBe('fathom')
  })
})

describe('the centers that a row may speak of', () => {
  const rows: ChangeRow[] = [{ kind: 'add_center', center: 'gamma', unitType: '', value: 'beta' }, { kind: 'add_center', center: 'delta', unitType: '', value: 'gamma' }, doubled]

  it('are those of the network and those that were added before', () => {
    expect(centersBefore(['alpha', 'beta'], rows, 0)).toEqual(['alpha', 'beta'])
    expect(centersBefore(['alpha', 'beta'], rows, 2)).toEqual(['alpha', 'beta', 'gamma', 'delta'])
  })

  it('have the unit types of the center that they are as', () => {
    expect(originOf(rows, 'delta')).toBe('beta')
    expect(originOf(rows, 'alpha')).toBe('alpha')
  })
})
