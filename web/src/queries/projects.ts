import { useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { api, unwrap } from '../api/client'
import { useWholeList } from '../api/pages'
import type { components } from '../api/schema'
import type { ProjectRole } from '../api/session'

export type Project = components['schemas']['Project']
export type ProjectChange = components['schemas']['ProjectChange']
export type ProjectUse = components['schemas']['ProjectUse']
export type ProjectMember = components['schemas']['ProjectMember']

export const projectKeys = {
  all: ['projects'] as const,
  list: ['projects', 'list'] as const,
  one: (name: string) => ['projects', 'one', name] as const,
  use: (name: string) => ['projects', 'one', name, 'use'] as const,
  members: (name: string) => ['projects', 'one', name, 'members'] as const,
}

// What a project uses grows while its jobs run.
const refetchInterval = 30_000

export function useProjects() {
  return useWholeList({
    key: projectKeys.list,
    read: (page_token, signal) => unwrap(api.GET('/api/v1/projects', { signal, params: { query: { page_size: 1000, page_token } } })),
  })
}

export function useProject(name: string) {
  return useQuery({
    queryKey: projectKeys.one(name),
    queryFn: ({ signal }) => unwrap(api.GET('/api/v1/projects/{name}', { signal, params: { path: { name } } })),
  })
}

const useOf = (name: string) => ({
  queryKey: projectKeys.use(name),
  queryFn: ({ signal }: { signal: AbortSignal }) => unwrap(api.GET('/api/v1/projects/{name}/use', { signal, params: { path: { name } } })),
  refetchInterval,
})

export function useProjectUse(name: string) {
  return useQuery(useOf(name))
}

/** The use of several projects, by name; what has not come yet is not in it. */
export function useProjectUses(names: readonly string[]): ReadonlyMap<string, ProjectUse> {
  const results = useQueries({ queries: names.map(useOf) })
  return new Map(results.flatMap((result, i) => (result.data ? [[names[i] ?? '', result.data]] : [])))
}

export function useProjectMembers(name: string, enabled: boolean) {
  return useWholeList({
    key: projectKeys.members(name),
    read: (page_token, signal) => unwrap(api.GET('/api/v1/projects/{name}/members', {
      signal, params: { path: { name }, query: { page_size: 1000, page_token } } })),
    enabled,
  })
}

function useProjectMutation<Values>(mutationFn: (values: Values) => Promise<unknown>) {
  const client = useQueryClient()
  return useMutation({ mutationFn, onSuccess: () => client.invalidateQueries({ queryKey: projectKeys.all }) })
}

/** Changes settings; refused when somebody else has changed them since `version` was read. */
export function useChangeProject() {
  return useProjectMutation(({ name, version, change }: { name: string; version: number | null; change: ProjectChange }) =>
    unwrap(api.PUT('/api/v1/projects/{name}', {
      params: { path: { name }, ...(version === null ? {} : { header: { 'If-Match': `"${version}"` } }) }, body: change })))
}

export function usePutMember() {
  return useProjectMutation(({ name, token, ...body }: { name: string; token: string; role: ProjectRole; reserve_unit_hours?: number }) =>
    unwrap(api.PUT('/api/v1/projects/{name}/members/{token}', { params: { path: { name, token } }, body })))
}

/** Takes a member away; the last one who may submit only with `open`, since the project is everybody's then. */
export function useRemoveMember() {
  return useProjectMutation(({ name, token, open }: { name: string; token: string; open: boolean }) =>
    unwrap(api.DELETE('/api/v1/projects/{name}/members/{token}', { params: { path: { name, token }, query: { open } } })))
}
