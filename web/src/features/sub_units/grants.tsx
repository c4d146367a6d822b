import { Button } from '@mantine/core'
import { useState } from 'react'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { type SubUnitGrant, useSubUnitGrants, useUndoSubUnitGrant } from '../../queries/sub_units'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { FormDialog } from '../../ui/forms/form_dialog'
import { useOrderKey } from '../../ui/forms/order_key'
import { Section } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { StatePill, type Tone } from '../../ui/state_pill'
import { EmptyState, Ready } from '../../ui/states'
import { Time } from '../../ui/zone'

const tones: Record<SubUnitGrant['state'], Tone> = { moving: 'busy', granted: 'good', refused: 'bad', undone: 'idle' }

export function Grants({ kind }: { kind: string }) {
  const t = useText()
  const { may } = useSession()
  const query = useSubUnitGrants(kind)
  const [undoing, setUndoing] = useState<SubUnitGrant | null>(null)
  const columns: Column<SubUnitGrant>[] = [
    { id: 'created_at', title: t('subunits.granted.at'), cell: (one) => <Time at={one.created_at} />, csv: (one) => one.created_at },
    { id: 'id', title: t('subunits.grant.id'), cell: (one) => <code>{one.id}</code>, csv: (one) => one.id, isHidden: true },
    { id: 'kind', title: t('subunits.kind'), cell: (one) => one.kind, csv: (one) => one.kind },
    { id: 'from_center', title: t('subunits.from'), cell: (one) => one.from_center, csv: (one) => one.from_center },
    { id: 'to_center', title: t('subunits.to'), cell: (one) => one.to_center, csv: (one) => one.to_center },
    { id: 'count', title: t('subunits.count'), isNumber: true, cell: (one) => one.count, csv: (one) => one.count },
    { id: 'state', title: t('subunits.state'), csv: (one) => one.state,
      cell: (one) => <StatePill tone={tones[one.state]}>{t(`subunits.grant.${one.state}`)}</StatePill> },
    { id: 'end_reason', title: t('subunits.reason'), cell: (one) => (one.end_reason ? <ServerText>{one.end_reason}</ServerText> : nothing), csv: (one) => one.end_reason },
    ...(may('manage_network') ? [{ id: 'acts', title: t('subunits.acts'), cell: (one: SubUnitGrant) => (one.state === 'granted' && one.undo_of === null
      ? <Button size="compact-xs" aria-label={t('subunits.undo.one', { id: one.id })} onClick={() => setUndoing(one)}>{t('subunits.undo')}</Button> : nothing) }] : []),
  ]
  return (
    <Section title={t('subunits.grants')}>
      <Ready query={query}>
        <DataTable name="sub-unit-grants" label={t('subunits.grants')} columns={columns} rows={query.items ?? []} rowKey={(one) => one.id} pages={query}
          empty={<EmptyState title={t('subunits.grants.none')} />} />
      </Ready>
      {undoing ? <Undo grant={undoing} onClose={() => setUndoing(null)} /> : null}
    </Section>
  )
}

function Undo({ grant, onClose }: { grant: SubUnitGrant; onClose: () => void }) {
  const t = useText()
  const undo = useUndoSubUnitGrant()
  const keyOf = useOrderKey()
  return (
    <FormDialog title={t('subunits.undo.title')} action={t('subunits.undo.do')} error={undo.error} busy={undo.isPending} onClose={onClose}
      onSubmit={() => undo.mutate({ id: grant.id, key: keyOf(grant.id) }, { onSuccess: onClose })}>
      <p>{t('subunits.undo.text', { n: grant.count, kind: grant.kind, from: grant.from_center, to: grant.to_center })}</p>
    </FormDialog>
  )
}
