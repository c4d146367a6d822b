import { describe, expect, it } from 'vitest'
import { generatePassword, isGoodPassword } from './password'

describe('passwords', () => {
  it('are long, in groups, and no two alike', () => {
    const made = new Set(Array.from({ length: 200 }, () => generatePassword()))
    expect(made.size).toBe(200)
    for (const password of made) expect(password).toMatch(/^([A-HJ-NP-Za-km-z2-9]{5}-){3}[A-HJ-NP-Za-km-z2-9]{5}$/)
  })

  it('take no byte that would make some characters likelier', () => {
    let next = 0
    const made = generatePassword((bytes) => bytes.forEach((_, i) => {
      bytes[i] = i % 2 ? 255 : next++ // 255 is thrown away
    }))
    expect(made.replaceAll('-', '')).toBe('ABCDEFGHJKLMNPQRSTUV')
  })

  it('are as likely to hold each character', () => {
    const counts = new Map<string, number>()
    for (const c of Array.from({ length: 2000 }, () => generatePassword()).join('').replaceAll('-', '')) counts.set(c, (counts.get(c) ?? 0) + 1)
    expect(counts.size).toBe(57)
    for (const count of counts.values()) expect(Math.abs(count - 40000 / 57)).toBeLessThan(200)
  })

  it('are checked as the server does', () => {
    expect(isGoodPassword('correct horse battery', 'ada')).toBe(true)
    expect(isGoodPassword('short', 'ada')).toBe(false)
    expect(isGoodPassword('my name is ADA, yes', 'ada')).toBe(false)
  })
})
