import { Fragment } from 'react'
import type { BalanceStep } from '../../queries/balance'
import { ServerText } from '../../ui/server_text'

/** What was missing or refused in a step, one behind the other. */
export function Faults({ step }: { step: BalanceStep }) {
  return step.faults.map((fault, i) => <Fragment key={i}>{i > 0 ? '; ' : ''}<ServerText>{fault}</ServerText></Fragment>)
}
