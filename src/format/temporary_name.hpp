// Names of temporary files beside their final files, and the removal of those whose writers were killed. Used by
// StagedFile.
#pragma once

#include <string>

namespace strom::format {

/// The folder part of a path: "." if it has none.
std::string folder_of(const std::string& path);

/// `.NAME.strom-PID-N-NANOSECONDS.tmp` in the folder of `path`. It is hidden, so that readers of the folder do not take
/// it for a finished file, and different in every call.
std::string temporary_name(const std::string& path);

/// True for names of the form that temporary_name() makes.
bool is_temporary_name(const std::string& name);

/// Takes the lock that a writer holds on its temporary file until the file has its name, or the process ends. False:
/// another process is about to remove the file, or has removed it.
bool hold_temporary(int fd);

/// Removes the temporary files of `folder` that no process holds. Skips folders that this process has recently looked
/// through. Files that cannot be removed, such as another user's, stay.
void remove_stale_temporaries(const std::string& folder);

}  // namespace strom::format
