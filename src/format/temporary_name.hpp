// Names of temporary files beside the files that they become, and the removal of those whose writers were killed.
// Used by StagedFile.
#pragma once

#include <string>

namespace strom::format {

/// The folder part of a path: "." if it has none.
std::string folder_of(const std::string& path);

/// `.NAME.strom-PID-N-NANOSECONDS.tmp` in the folder of `path`: hidden, so that no reader of the folder takes it for a
/// finished file, and another one with every call.
std::string temporary_name(const std::string& path);

/// The name that temporary_name() makes, and nothing else.
bool is_temporary_name(const std::string& name);

/// Takes the lock that a writer holds on its temporary file until that has its name, or the process ends. False:
/// somebody else is about to remove the file, or has.
bool hold_temporary(int fd);

/// Removes the temporary files of `folder` that no process holds. Folders that this process has just looked through
/// are left out. What cannot be removed, such as another user's file, stays.
void remove_stale_temporaries(const std::string& folder);

}  // namespace strom::format
