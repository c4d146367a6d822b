import type { Authority } from '../../queries/authority'

/** Steps of a replacement as the command line names them, by the phase before them. */
const nextSteps: Record<Authority['phase'], readonly string[]> = {
  none: ['fathom authority rotate --begin'],
  begun: ['fathom authority show --ca-file ca.pem', 'fathom authority rotate --switch'],
  switched: ['fathom authority rotate --finish'],
}

export function nextCommands(authority: Pick<Authority, 'phase'>): readonly string[] {
  return nextSteps[authority.phase]
}

/** Centers whose agent has done what the next step needs; null while nothing is replaced. */
export function readyCenters(authority: Pick<Authority, 'phase' | 'center_count' | 'waits_for_count'>): number | null {
  return authority.phase === 'none' ? null : Math.max(0, authority.center_count - authority.waits_for_count)
}

/** How many replicas of fathomd do not trust what the network trusts, or have not said so for a while. */
export function notFollowing(authority: Pick<Authority, 'replicas'>): number {
  return authority.replicas.filter((replica) => replica.state !== 'follows').length
}

// As long before its end as fathomd begins to warn.
const warnedDays = 180

/** Whether an authority should be replaced because it ends. */
export function endsSoon(notAfter: string, nowMs: number): boolean {
  return Date.parse(notAfter) - nowMs < warnedDays * 86_400_000
}
