import { Button, NativeSelect } from '@mantine/core'
import { useFilters } from '../../../app/router/search'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { useCenters } from '../../../queries/centers'
import { CutMark } from '../../../ui/cut_list'
import { TextFilter } from '../../../ui/forms/text_filter'
import { Page, Section } from '../../../ui/page'
import { EmptyState, Ready } from '../../../ui/states'
import { CentersTable } from '../centers_table'
import { healths } from '../health'
import { AskForNetworks, MapView } from '../map/map_view'
import { EnrolDialog } from './enrol_dialog'
import { EnrolmentTokens } from './enrolment_tokens'
import { filterCenters, parseCenterFilters } from './filters'

export function CentersPage() {
  const t = useText()
  const { may } = useSession()
  const query = useCenters()
  const [raw, change] = useFilters(['enrol', 'name', 'health', 'view'])
  const filters = parseCenterFilters(raw)
  const all = query.data ?? []
  const mayEnrol = may('manage_network')
  const enrol = <Button variant="filled" onClick={() => change({ enrol: 'new' })}>{t('centers.enrol')}</Button>
  const found = filterCenters(all, filters)
  const tools = (
    <>
      <TextFilter label={t('centers.name')} value={filters.name} onChange={(name) => change({ name })} />
      <NativeSelect label={t('centers.state')} value={filters.health} onChange={(e) => change({ health: e.currentTarget.value })}
        data={[{ value: '', label: t('ui.any') }, ...healths.map((health) => ({ value: health, label: t(`centers.state.${health}`) }))]} />
      <NativeSelect label={t('centers.view')} value={raw.view === 'map' ? 'map' : ''} onChange={(e) => change({ view: e.currentTarget.value })}
        data={[{ value: '', label: t('centers.view.list') }, { value: 'map', label: t('centers.view.map') }]} />
    </>
  )
  const empty = all.length > 0
    ? <EmptyState title={t('centers.none.filter')} action={<Button onClick={() => change({ name: '', health: '' })}>{t('centers.none.clear')}</Button>} />
    : <EmptyState title={t('centers.none')} action={mayEnrol ? enrol : undefined} />
  return (
    <Page title={t('centers.title')} actions={mayEnrol ? enrol : null}>
      {raw.view === 'map' ? <AskForNetworks /> : null}
      <Ready query={query}>
        <CutMark list={query} name={t('centers.title')} />
        {raw.view === 'map' ? <MapView centers={found} tools={tools} empty={empty} /> : <CentersTable centers={found} tools={tools} empty={empty} />}
      </Ready>
      {mayEnrol ? <div style={{ marginTop: 24 }}><Section title={t('centers.tokens')}><EnrolmentTokens /></Section></div> : null}
      {mayEnrol && raw.enrol ? <EnrolDialog onClose={() => change({ enrol: '' })} /> : null}
    </Page>
  )
}
