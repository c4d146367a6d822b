import type { Translate } from '../../../i18n/language'
import type { OperatorReview } from '../../../queries/operator_reviews'
import { formatBytes } from '../../../ui/format'

/** What the sandbox of an uploaded operator would allow it, in the reader's words. */
export function mayUse(t: Translate, manifest: OperatorReview['manifest']): string {
  const sandbox = (manifest as { sandbox?: { network?: boolean; memory_bytes?: number } }).sandbox ?? {}
  return t(sandbox.network ? 'reviews.may.network' : 'reviews.may.nothing', { memory: formatBytes(sandbox.memory_bytes) })
}
