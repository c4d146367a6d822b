import { describe, expect, it } from 'vitest'
import { en } from '../../../i18n/en'
import { fill, type Translate } from '../../../i18n/language'
import { similarityText, ownLoops, readLoops } from './own_loops'

const english: Translate = (key, values) => fill(en[key], values)

describe('loops of a program of its own', () => {
  it('are those of the profile', () => {
    const loop = { file: 'solver', offset: 4096, share: 0.4, operator: 'sort', similarity: 0.8, mix: { integer: 1 } }
    expect(ownLoops({ remainder: { code: { loops: [loop, { ...loop, operator: null }] } } } as never)).toEqual([
      { place: 'solver+0x1000', share: 0.4, operator: 'sort', similarity: 0.8 },
      { place: 'solver+0x1000', share: 0.4, operator: null, similarity: 0.8 },
    ])
  })

  it('are none where a profile has none or tells nonsense', () => {
    for (const remainder of [null, {}, { code: 7 }, { code: { loops: {} } }, { code: { loops: [7, null, { file: 1 }] } }]) {
      expect(ownLoops({ remainder } as never)).toEqual([])
    }
  })

  it('are those that a job type was learned with', () => {
    expect(readLoops([{ file: 'solver', offset: 16, share: 0.1, operator: 'spmv', similarity: 0.8 }])).toEqual([
      { place: 'solver+0x10', share: 0.1, operator: 'spmv', similarity: 0.8 },
    ])
    expect(readLoops(null)).toEqual([])
  })

  it('are read from profiles of the version before', () => {
    expect(readLoops([{ file: 'solver', offset: 16, share: 0.1, operator: 'spmv', likeness: 0.8 }])).toEqual([
      { place: 'solver+0x10', share: 0.1, operator: 'spmv', similarity: 0.8 },
    ])
  })

  it('are like an operator in words', () => {
    const loop = { place: 'a', share: 0.4, operator: 'sort', similarity: 0.9 }
    expect(similarityText(loop, english)).toBe('much like sort (90 %)')
    expect(similarityText({ ...loop, similarity: 0.7 }, english)).toBe('somewhat like sort (70 %)')
    expect(similarityText({ ...loop, operator: null }, english)).toBe('like no operator')
  })
})
