import { ApiError } from '../api/problem'
import type { Translate } from '../i18n/language'
import { knownWord } from './known_word'

const codes = [
  'invalid', 'unauthenticated', 'forbidden', 'not_found', 'conflict', 'infeasible', 'too_large', 'too_many', 'unavailable', 'deadline', 'internal'] as const

/** What the code of a refusal means, in the reader's language; null: it has none, or one that this console does not know. */
export function codeText(t: Translate, error: unknown): string | null {
  const code = error instanceof ApiError ? knownWord(codes, error.problem?.code) : null
  return code ? t(`ui.code.${code}`) : null
}

/** The words of what failed. */
export function causeText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
