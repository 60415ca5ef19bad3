const FILE = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to):(.*)$/s

/**
 * The files that a patch of apply_patch names, as the host reads it: line by line, with or without a blank before the
 * name, and only a line feed ends a line.
 */
export const patched = (patch: string): string[] =>
  patch
    .trim()
    .split("\n")
    .flatMap((line) => FILE.exec(line)?.[1]?.trim() || [])
