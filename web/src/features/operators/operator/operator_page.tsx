import { Button } from '@mantine/core'
import { useState } from 'react'
import type { PathParams } from '../../../app/router/match'
import { Link } from '../../../app/router/link'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { useOperator, useWithdrawVersion } from '../../../queries/operator_library'
import { ConfirmByTyping } from '../../../ui/confirm_by_typing'
import { Page } from '../../../ui/page'
import { StatePill } from '../../../ui/state_pill'
import { Ready } from '../../../ui/states'
import { ChangeOperator } from '../change_operator'
import { OperatorDescription } from './operator_description'
import { OperatorServed } from './operator_served'
import { OperatorVersions } from './operator_versions'

type Act = 'change' | 'withdraw' | null

export function OperatorPage({ params }: { params: PathParams }) {
  const t = useText()
  const { may } = useSession()
  const id = params.id ?? ''
  const [filters, change] = useFilters(['version', 'with'])
  const version = /^[1-9]\d*$/.test(filters.version) ? Number(filters.version) : null
  const query = useOperator(id, version)
  const withdraw = useWithdrawVersion()
  const [act, setAct] = useState<Act>(null)
  const operator = query.data
  const mayChange = may('manage_metering') && operator && version === null
  return (
    <Page title={id} mark={operator?.withdrawn_at ? <StatePill tone="warn">{t('operators.state.withdrawn')}</StatePill> : undefined} actions={
      <>
        {may('manage_metering') && operator && !operator.withdrawn_at ? (
          <>
            <Link style={{ alignSelf: 'center' }} href={`/measure?operator=${encodeURIComponent(id)}`}>{t('operators.measure')}</Link>
            {mayChange ? <Button onClick={() => setAct('change')}>{t('operators.change')}</Button> : null}
            <Button onClick={() => setAct('withdraw')}>{t('operators.withdraw')}</Button>
          </>
        ) : null}
      </>
    }>
      <Ready query={query}>
        {operator ? (
          <>
            <OperatorDescription operator={operator} />
            <OperatorServed id={id} />
            <OperatorVersions id={id} shown={operator} other={filters.with} onShow={(next) => change({ version: next })}
              onCompare={(next) => change({ with: next })} />
            {act === 'change' ? <ChangeOperator operator={operator} onClose={() => setAct(null)} /> : null}
            <ConfirmByTyping opened={act === 'withdraw'} title={t('operators.withdraw.title', { id, n: operator.version })} target={`${id}@${operator.version}`}
              action={t('operators.withdraw.do')} error={withdraw.error} busy={withdraw.isPending} onClose={() => {
                withdraw.reset()
                setAct(null)
              }} onConfirm={() => withdraw.mutate({ id, version: operator.version }, { onSuccess: () => setAct(null) })}>
              <p>{t('operators.withdraw.text')}</p>
              {operator.origin === 'uploaded' ? <p>{t('operators.withdraw.uploaded')}</p> : null}
            </ConfirmByTyping>
          </>
        ) : null}
      </Ready>
    </Page>
  )
}
