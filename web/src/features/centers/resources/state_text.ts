import type { useText } from '../../../i18n/language'

const texts = {
  file: 'centers.resources.state.file',
  waiting: 'centers.resources.state.waiting',
  applied: 'centers.resources.state.applied',
  differs: 'centers.resources.state.differs',
  forbidden: 'centers.resources.state.forbidden',
  failed: 'centers.resources.state.failed',
  unsupported: 'centers.resources.state.unsupported',
} as const

/** In words; a newer server may have other states. */
export function stateText(t: ReturnType<typeof useText>, state: string): string {
  return state in texts ? t(texts[state as keyof typeof texts]) : state
}
