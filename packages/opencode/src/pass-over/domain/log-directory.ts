/** Why a folder for the log would not be below its project, as far as its name tells; links are for the one who writes. */
export function leavesProject(log_directory: string): string | undefined {
  if (/^(?:[\\/~]|[A-Za-z]:)/.test(log_directory)) return "is an absolute path"
  const pieces = log_directory.split(/[\\/]+/)
  if (pieces.includes("..")) return "leads upwards"
  if (log_directory.includes("\0")) return "is no path"
  if (pieces.every((piece) => piece === "" || piece === ".")) return "is the project itself"
  if (pieces.some((piece) => piece === ".git")) return "lies in the repository's own folder"
  return undefined
}
