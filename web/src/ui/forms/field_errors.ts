import { fieldErrors } from '../../api/problem'
import { useSentence } from '../../i18n/language'

/** What an error says of each field of a form, by the field's path, in the reader's language where it can be. */
export function useFieldErrors(error: unknown): Record<string, string> {
  return fieldErrors(error, useSentence())
}
