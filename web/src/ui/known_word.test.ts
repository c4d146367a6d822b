import { expect, it } from 'vitest'
import { knownWord } from './known_word'

it('a word is known or it is not', () => {
  expect(knownWord(['far', 'near'], 'near')).toBe('near')
  expect(knownWord(['far', 'near'], 'beyond')).toBeNull()
  expect(knownWord(['far', 'near'], null)).toBeNull()
})
