import { useSession } from '../../app/session'
import { useOpenFindings } from '../../queries/findings'
import { useQueueDepth } from '../../queries/queue'
import { useUnitUse } from '../../queries/unit_use'
import { useRecentPlacements } from './recent_placements'

/** Asks for what the sections of the overview show together with the centers, not after them. Draws nothing. */
export function AskAhead() {
  // In components of their own: the page around them is not drawn again when answers come.
  const { may } = useSession()
  useUnitUse()
  useOpenFindings()
  useQueueDepth()
  return may('read_jobs') ? <AskForPlacements /> : null
}

function AskForPlacements() {
  useRecentPlacements()
  return null
}
