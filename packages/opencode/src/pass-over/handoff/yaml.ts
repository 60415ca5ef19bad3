import { stringify } from "yaml"

/** A value as YAML for people to read: no anchors, no lines broken by us. */
export const yaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false })
