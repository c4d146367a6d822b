import { useText } from '../../../i18n/language'
import { useCenters } from '../../../queries/centers'
import { useUnitTypes } from '../../../queries/unit_types'
import { CheckList } from '../../../ui/check_list'
import { CutMark } from '../../../ui/cut_list'
import type { OrderDraft } from './order_draft'
import { Choice } from './order_form'
import styles from './order.module.css'
import { reachOf } from './reach'

const selections = ['catalog', 'ask', 'user', 'center'] as const

/** Who chooses the unit types (M13), and which ones the catalog says could run what was chosen. */
export function PlaceChoice({ draft, operators, error, onChange }: {
  draft: OrderDraft; operators: readonly string[]; error: string; onChange: (change: Partial<OrderDraft>) => void
}) {
  const t = useText()
  const centers = useCenters()
  const unitTypes = useUnitTypes()
  const reach = reachOf(unitTypes.data ?? [], operators)
  const able = reach.filter((one) => one.lacks.length === 0 &&
    (draft.centers.length === 0 || draft.centers.includes(one.unitType.center) || draft.centers.includes(one.unitType.center_id)))
  return (
    <>
      <Choice label={t('runs.where')} value={draft.selection} options={selections.map((one) => [one, t(`runs.where.${one}`)])}
        onChange={(selection) => onChange({ selection })} />
      {draft.selection === 'user' ? (
        <div>
          <CheckList label={t('runs.unit_types')} none={t('runs.unit_types.none')} chosen={draft.unitTypes} onChange={(unitTypes) => onChange({ unitTypes })}
            items={reach.map((one) => ({
              value: one.name, label: one.name, isOff: one.lacks.length > 0,
              note: one.lacks.length > 0 ? t('runs.unit_types.lacks', { ids: one.lacks.join(', ') })
                : t('runs.unit_types.note', { kind: one.unitType.resource_type, n: one.unitType.unit_count, cores: one.unitType.cores_per_unit }),
            }))} />
          <CutMark list={unitTypes} name={t('units.title')} />
          {error ? <p role="alert" className={styles.error}>{error}</p> : null}
        </div>
      ) : (
        <div>
          <CheckList label={t('runs.centers')} none={t('runs.centers.none')} chosen={draft.centers} onChange={(chosen) => onChange({ centers: chosen })}
            items={(centers.data ?? []).map((center) => ({ value: center.name, label: center.name }))} />
          <CutMark list={centers} name={t('centers.title')} />
        </div>
      )}
      {draft.selection === 'catalog' ? (
        <p className="dim" style={{ margin: 0 }}>{able.length === 0 ? t('runs.reach.none') : t('runs.reach', { n: able.length, names: able.map((one) => one.name).join(', ') })}</p>
      ) : null}
    </>
  )
}
