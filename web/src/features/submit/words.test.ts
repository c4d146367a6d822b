import { describe, expect, it } from 'vitest'
import { joinWords, parseSize, sizeText, splitWords } from './words'

describe('command lines', () => {
  it.each([
    ['pw.x -in si.in', ['pw.x', '-in', 'si.in']],
    ['  a   "b c" \'d "e\' ', ['a', 'b c', 'd "e']],
    ['a ""', ['a', '']],
    ['sh -c "echo \\"x\\" \\\\"', ['sh', '-c', 'echo "x" \\']],
    ['a\\ b', ['a b']],
    ['', []],
  ])('%s', (line, words) => expect(splitWords(line)).toEqual(words))

  it('are split into what they were joined from', () => {
    for (const words of [['a', 'b c', '', '"', "'", '\\', 'x\ny', '$HOME']]) expect(splitWords(joinWords(words))).toEqual(words)
  })
})

describe('sizes', () => {
  it('are names with numbers', () => {
    expect(parseSize('m=512, n=64')).toEqual({ m: 512, n: 64 })
    expect(parseSize('')).toEqual({})
    expect(parseSize('m=big')).toBeNull()
    expect(sizeText({ m: 512, n: 64 })).toBe('m=512, n=64')
  })
})
