import { describe, expect, it } from 'vitest'
import { toCsv } from './csv'

describe('CSV', () => {
  it('quotes what needs it', () => {
    expect(toCsv(['a', 'b'], [['x,y', 'say "no"'], ['two\nlines', null]])).toBe('a,b\r\n"x,y","say ""no"""\r\n"two\nlines",\r\n')
  })

  it('lets no text become a formula, and numbers be numbers', () => {
    expect(toCsv(['a'], [['=1+1'], ['@x'], [-5], ['-5'], [0]])).toBe("a\r\n'=1+1\r\n'@x\r\n-5\r\n-5\r\n0\r\n")
  })
})
